"""The robot in the browser: sliders, torques, replay, and one HTML file of it."""
