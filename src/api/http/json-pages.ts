import type { JsonSchema } from '../../domain/codec/codec.js'

export const JSON_LINES = 'application/jsonl'

/** How lines of JSON are described. */
export const linesOf = (description: string, line: JsonSchema): JsonSchema => ({
  type: 'string',
  description,
  contentMediaType: JSON_LINES,
  contentSchema: line,
})

/** Pages of JSON texts as lines. */
export async function* asLines(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const texts of pages) if (texts.length > 0) yield `${texts.join('\n')}\n`
}

/** Pages of JSON texts as one object whose only member is the list of them all. */
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
