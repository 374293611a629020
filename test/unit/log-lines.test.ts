import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The calls that write a line of the log, with their arguments. */
const logCalls = FILES.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8')
  return [...text.matchAll(/\blog\??\.(?:info|warn|error)\(/g)].map((match) => {
    let [depth, end] = [1, match.index + match[0].length]
    for (; depth > 0; end += 1) depth += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0
    return { file, call: text.slice(match.index, end).replace(/\s+/g, ' ') }
  })
})

/** What a request or an answer of others may hold, with links and keys in it. */
const OF_REQUESTS =
  /\bctx\.(?:path|url|href|originalUrl|query|headers|host)|\breq\.|\.headers\b|\b(?:url|link|links|token|authorization|cookie|referer|api_key|apiKey|secret)\b(?!')/i

describe('the lines of the log', () => {
  it('are found in the source', () => {
    assert.ok(logCalls.length > 40)
  })

  it('have no part of a request that may hold a link or a key', () => {
    const wrong = logCalls.filter(({ call }) => OF_REQUESTS.test(call))
    assert.deepEqual(wrong, [])
  })
})
