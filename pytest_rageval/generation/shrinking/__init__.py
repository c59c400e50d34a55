"""Find the smallest context that breaks a case: passages, then sentences, then the evidence that it lacks."""
