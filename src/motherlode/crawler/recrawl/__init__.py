"""Revisits of known pages: `revisits` runs them, and `schedule` estimates change rates and due times."""
