"""How well memories or messages match the words of a question: BM25 without repetitions.

Each word that a text shares with the question counts by how rare it is among the texts that are
searched, so that "the" and "user" count next to nothing. A long text matches by chance, so its
words count less. Texts are short and say a word once, so how often they have it is left out.
"""

# A text of so many different words counts half.
_HALVING_LENGTH = 20

# The words of a question, each with its query.
_WORD = """
    word AS MATERIALIZED (
        SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
        FROM unnest(
            tsvector_to_array(
                to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
            )
        ) AS lexeme
    )
"""

_RARITY = "ln(1 + (texts - frequency + 0.5) / (frequency + 0.5))"

# How rare each word is among the texts in `live`.
_WEIGH_BY_LIVE = f"""
    SELECT lexeme, CAST({_RARITY} AS float8) AS weight
    FROM (SELECT lexeme, count(*) AS frequency FROM shared GROUP BY lexeme) AS counted,
        (SELECT count(*) AS texts FROM live) AS all_texts
"""

# The index of an agent counts frequent words alone. Any other is taken to be in so many memories.
_UNCOUNTED = 20

# How rare each word is among the memories in the agent's index.
_WEIGH_BY_INDEX = f"""
    SELECT lexeme, CAST({_RARITY} AS float8) AS weight
    FROM (
        SELECT
            word.lexeme,
            coalesce(f.memories, {_UNCOUNTED}) AS frequency,
            greatest(f.memories, {_UNCOUNTED}, (
                SELECT i.memories FROM agent_indexes i WHERE i.agent_id = :agent
            )) AS texts
        FROM word
        LEFT JOIN frequent_words f
            ON f.agent_id = :agent AND f.word = hashtextextended(word.lexeme, 0)
    ) AS counted
"""


def build_matching_ctes(*, is_indexed: bool = False) -> str:
    """Return the CTE `matching`: those in `live` that share a word, with their `rank`.

    `live` has `id`, `distance`, `bonus`, `valid_from` and `lexemes`. Of a large agent that
    `is_indexed`, its index says how rare words are, so that texts have the same ranks in an answer
    by the index and in an exact one.
    """
    return f"""
        {_WORD},
        shared AS MATERIALIZED (
            SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
        ),
        weighed AS MATERIALIZED ({_WEIGH_BY_INDEX if is_indexed else _WEIGH_BY_LIVE}),
        matching AS MATERIALIZED (
            SELECT
                id,
                min(distance) AS distance,
                max(bonus) AS bonus,
                max(valid_from) AS valid_from,
                sum(weight) / (1 + max(length(lexemes)) / {_HALVING_LENGTH}.0) AS rank
            FROM shared JOIN weighed USING (lexeme)
            GROUP BY id
        )
    """
