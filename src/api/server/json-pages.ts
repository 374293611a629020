import { Readable } from 'node:stream'
import type { JsonSchema } from '../../kernel/codec/codec.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'

export const JSON_LINES = 'application/jsonl'

/** The OpenAPI schema of JSON lines. */
export const linesOf = (description: string, line: JsonSchema): JsonSchema => ({
  type: 'string',
  description,
  contentMediaType: JSON_LINES,
  contentSchema: line,
})

/** Streams what is written of pages. An error before the first page still gets its own status. */
export const streamed = async <Page>(
  pages: AsyncIterable<Page>,
  written: (pages: AsyncIterable<Page>) => AsyncIterable<string>,
  type = 'application/json; charset=utf-8',
) => ({ body: Readable.from(written(await prefetchFirst(pages))), type })

export type Texts = AsyncIterable<readonly string[]>

/** Streams pages of JSON texts as lines. */
export const streamedLines = (pages: Texts) => streamed(pages, asLines, JSON_LINES)

/** Streams pages of JSON texts as an object with one array. */
export const streamedArray = (member: string) => (pages: Texts) =>
  streamed(pages, (texts) => asArray(member, texts))

async function* asLines(pages: Texts): AsyncGenerator<string> {
  for await (const texts of pages) if (texts.length > 0) yield `${texts.join('\n')}\n`
}

async function* asArray(member: string, pages: Texts): AsyncGenerator<string> {
  let separator = ''
  yield `{${JSON.stringify(member)}:[`
  for await (const texts of pages) {
    if (texts.length === 0) continue
    yield separator + texts.join(',')
    separator = ','
  }
  yield ']}'
}
