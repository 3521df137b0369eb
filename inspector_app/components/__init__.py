"""The app's own components: linked view, rail, facts, cards. One folder each, with one typed function."""
