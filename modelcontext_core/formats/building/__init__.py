"""What a reader tells to messages: turns, texts, calls and results, joined, linked and reported."""
