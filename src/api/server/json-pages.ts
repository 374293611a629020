import type { JsonSchema } from '../../kernel/codec/codec.js'

export const JSON_LINES = 'application/jsonl'

/** The OpenAPI schema of JSON lines. */
export const linesOf = (description: string, line: JsonSchema): JsonSchema => ({
  type: 'string',
  description,
  contentMediaType: JSON_LINES,
  contentSchema: line,
})

export async function* asLines(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const texts of pages) if (texts.length > 0) yield `${texts.join('\n')}\n`
}

/** Wraps pages of JSON texts in an object with one array. */
export async function* asArray(
  member: string,
  pages: AsyncIterable<readonly string[]>,
): AsyncGenerator<string> {
  let separator = ''
  yield `{${JSON.stringify(member)}:[`
  for await (const texts of pages) {
    if (texts.length === 0) continue
    yield separator + texts.join(',')
    separator = ','
  }
  yield ']}'
}
