"""Parts of the page of a study."""
