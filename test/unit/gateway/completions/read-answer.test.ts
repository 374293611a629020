import assert from 'node:assert/strict'
import { eventReader } from '../../../../src/gateway/completions/read-answer.js'

const TIMEOUTS = { connect_ms: 60_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 60_000 }

const readerOf = (body: AsyncIterable<Uint8Array>) =>
  eventReader(
    {
      status: 200,
      headers: {},
      sentAt: Infinity,
      body,
      ended: Promise.resolve('complete'),
      giveUp: () => undefined,
    },
    TIMEOUTS,
  )

async function* piecesOf(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Promise.resolve(new TextEncoder().encode(text))
}

const eventsIn = async (texts: readonly string[]): Promise<readonly string[]> => {
  const reader = readerOf(piecesOf(texts))
  const events: string[] = []
  for (let read = await reader.next(); read !== undefined; read = await reader.next())
    events.push(...read.map(({ event, data }) => (event === undefined ? data : `${event}: ${data}`)))
  reader.close()
  return events
}

describe('the events of an upstream', () => {
  it('are the same with each kind of line end, however they are cut', async () => {
    const lines = [
      'data: a',
      '',
      'event: error',
      'data: b',
      'data: c',
      '',
      ': comment',
      '',
      'data: d',
      '',
      '',
    ]
    for (const end of ['\n', '\r', '\r\n']) {
      const text = lines.join(end)
      for (const size of [1, 2, 3, 7, text.length]) {
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
          text.slice(at * size, at * size + size),
        )
        assert.deepEqual(await eventsIn(pieces), ['a', 'error: b\nc', 'd'], JSON.stringify([end, size]))
      }
    }
  })

  it('are complete with a CR, without waiting for the next bytes', async () => {
    const reader = readerOf(piecesOf(['data: a\r\r', 'data: b']))
    assert.deepEqual(
      (await reader.next())?.map(({ data }) => data),
      ['a'],
    )
    reader.close()
  })

  it('are whole where a piece is larger than what is read at once', async () => {
    const text = 'x'.repeat(100_000)
    assert.deepEqual(await eventsIn([`data: ${text}\n\ndata: é${text}\n\n`]), [text, `é${text}`])
  })

  it('let others run although the next bytes are always ready', async () => {
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    const reader = readerOf(
      (async function* () {
        const piece = new TextEncoder().encode('data: {"x":1}\n\n'.repeat(1000))
        while (turns < 3) yield Promise.resolve(piece)
      })(),
    )
    for (let read = await reader.next(); read !== undefined;) read = await reader.next()
    clearInterval(counting)
    reader.close()
    assert.ok(turns >= 3)
  })
})
