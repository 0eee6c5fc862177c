"""From ports and connections to a network with causality: who moves whom, in which order, through which port."""
