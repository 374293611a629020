import assert from 'node:assert/strict'
import { MemoryAccount, type MemoryLease } from '../../../../src/kernel/memory-account.js'
import { eventReader } from '../../../../src/gateway/completions/read-events.js'

const TIMEOUTS = { connect_ms: 60_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 60_000 }

const readerOf = (body: AsyncIterable<Uint8Array>, memory = new MemoryAccount(Infinity).lease('')) =>
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
    memory,
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

describe('the memory of unfinished events', () => {
  const MIB = 1_048_576
  const text = 'x'.repeat(16_384)
  const pieces = (count: number, piece = text) => Array.from({ length: count }, () => piece)

  const readAll = async (texts: readonly string[], memory: MemoryLease): Promise<number> => {
    const reader = readerOf(piecesOf(texts), memory)
    let events = 0
    try {
      for (let read = await reader.next(); read !== undefined; read = await reader.next())
        events += read.length
    } finally {
      reader.close()
    }
    return events
  }

  /** A team of which another request uses all but 4 MiB. */
  const fullAccount = () => {
    const account = new MemoryAccount(64 * MIB)
    for (const bytes of [16, 12]) assert.ok(account.lease('a').grow(bytes * MIB))
    return account
  }

  const refused = [
    ['one line without an end', ['data: ', ...pieces(100)]],
    ['many lines without the end of the event', pieces(100, `data: ${text}\n`)],
    ['an event after others', ['data: a\n\ndata: b\n\ndata: ', ...pieces(100)]],
    ['an answer in one line', ['{"x":"', ...pieces(100)]],
    ['an answer in several lines', ['{\n"x":"', ...pieces(100)]],
  ] as const
  for (const [name, texts] of refused)
    it(`is limited to the share of the team: ${name}`, async () => {
      const account = fullAccount()
      const memory = account.lease('a')
      await assert.rejects(readAll(texts, memory), /share of the memory/)
      assert.ok(account.lease('a').grow(4 * MIB))
    })

  const read = [
    ['events', pieces(500, `data: ${text}\n\n`), 500],
    ['comments', pieces(500, `: ${text}\n`), 0],
    ['other fields', pieces(500, `event: ${text}\n`), 0],
    ['lines of JSON', pieces(500, `{"x":"${text}"}\n`), 500],
  ] as const
  for (const [name, texts, events] of read)
    it(`does not grow with the number of ${name}`, async () => {
      assert.equal(await readAll(texts, fullAccount().lease('a')), events)
    })
})
