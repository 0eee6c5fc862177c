"""What a robot is: entities with ports, connections, context, and the rules they obey. No mathematics."""
