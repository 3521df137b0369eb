"""The app's own components, where Streamlit has none: a folder each, with script, style and functions to draw it."""
