def tables(results): 
    import json; return json.dumps(results, indent=1)
