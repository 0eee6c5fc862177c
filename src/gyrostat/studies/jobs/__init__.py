"""Jobs: what is to be computed about which robot, as data; in a file, in a store, or sent to another machine."""
