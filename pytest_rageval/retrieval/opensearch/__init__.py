"""Search an index of OpenSearch or Elasticsearch over HTTP."""
