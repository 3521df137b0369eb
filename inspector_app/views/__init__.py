"""Pure functions from core values to what a page shows. Nothing here imports Streamlit."""
