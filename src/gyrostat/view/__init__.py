"""Pictures: figures over time, the browser viewer, component diagrams."""
