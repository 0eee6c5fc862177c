"""Methods of time integration, one file each."""
