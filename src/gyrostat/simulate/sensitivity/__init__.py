"""How a motion changes with where it starts, with physical properties and with gains: tangents along its steps."""
