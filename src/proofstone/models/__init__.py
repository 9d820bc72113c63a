"""Call language models: requests, budgets, responses and costs."""
