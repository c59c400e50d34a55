"""Words and sentences in English and Chinese: what metrics, retrievers and readers share."""
