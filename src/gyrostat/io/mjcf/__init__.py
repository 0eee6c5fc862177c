"""Files of MuJoCo to models."""
