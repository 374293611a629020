/** Digits within a text count too, so that this means perhaps, and its contrary surely not. */
export const mayBeWide = (json: string): string => `match(${json}, '[0-9]{20}|-[0-9]{19}')`

/** A text, a number, or whatever stands between them. */
const TOKEN = `'"(?:[^"\\\\\\\\]|\\\\\\\\.)*"|[0-9.eE+-]+|[^"0-9-]+'`

/**
 * JSON as ClickHouse can read all of it. Of its two parsers, one takes a text for empty that has an integer of more than 64
 * bits anywhere, the other reads numbers inexactly, so that one in seven is not found by its own digits. With a
 * fraction written behind them such integers are no hindrance to the first. NULL stays so: without it, there is what a
 * condition has just hidden. It is to be read with {@link JSON_SETTINGS}.
 */
export const readableJson = (json: string, isWide = mayBeWide(json)): string =>
  `if(${isWide} AND ${json} IS NOT NULL, arrayStringConcat(arrayMap(
    t -> if(match(t, '^-?[0-9]{19,}$'), concat(t, '.0'), t),
    extractAll(assumeNotNull(${json}), ${TOKEN}))), ${json})`

export const JSON_SETTINGS = 'allow_simdjson = 1'
