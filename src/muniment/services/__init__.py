"""One use case each: thin sequences of port calls and decisions."""
