"""What makes muniment the memory of an agent framework; one room a framework, each an extra."""
