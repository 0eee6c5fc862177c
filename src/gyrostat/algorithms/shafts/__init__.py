"""The drivetrain in the algorithms: elements on shafts, rates that gears tie together, what motors can give."""
