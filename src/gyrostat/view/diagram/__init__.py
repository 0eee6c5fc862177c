"""The component diagram of a model: boxes, their order and places, and the drawing."""
