import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { openClickHouseServer } from '../../../../src/adapters/clickhouse/server.js'
import type { ClickHouse, ClickHouseUnavailable } from '../../../../src/kernel/ports/clickhouse.js'
import { startRecordingProxy } from '../../../support/recording-proxy.js'
import { selfSigned } from '../../../support/self-signed.js'
import { startAnsweringServer, type AnsweringServer } from '../../../support/answering-server.js'

type Answer = (asked: IncomingMessage, answer: ServerResponse) => void

const OK = { 'x-clickhouse-summary': '{}' }
const SECRET = 'what-a-row-says'

const exception = (status: number, code: number, type: string, message = SECRET): Answer => {
  const text = `Code: ${code}. DB::Exception: ${message}: while executing. (${type}) (version 26.7.2.1)`
  return (_, answer) => answer.writeHead(status, { 'x-clickhouse-exception-code': String(code) }).end(text)
}

const plain =
  (status: number, text: string): Answer =>
  (_, answer) =>
    answer.writeHead(status, { 'content-type': 'text/html' }).end(text)

const TOTAL = '(total) memory limit exceeded: would use 9 GiB'
const OF_QUERY = 'Query memory limit exceeded: would use 4 GiB'

/** What comes back for a read and for an insert, as the name of the error and why or what limit. */
const KINDS: Readonly<Record<string, readonly [answer: Answer, read: string, insert: string]>> = {
  'too many queries': [exception(500, 202, 'TOO_MANY_SIMULTANEOUS_QUERIES'), 'busy', 'busy'],
  'too many parts': [exception(500, 252, 'TOO_MANY_PARTS'), 'busy', 'busy'],
  'the memory of the server': [exception(500, 241, 'MEMORY_LIMIT_EXCEEDED', TOTAL), 'busy', 'busy'],
  'the memory of the query': [exception(500, 241, 'MEMORY_LIMIT_EXCEEDED', OF_QUERY), 'memory', 'busy'],
  'too long': [exception(408, 159, 'TIMEOUT_EXCEEDED'), 'time', 'busy'],
  'a table that only reads': [exception(500, 242, 'TABLE_IS_READ_ONLY'), 'busy', 'busy'],
  'trouble with Keeper': [exception(500, 999, 'KEEPER_EXCEPTION'), 'busy', 'busy'],
  'its own network': [exception(500, 210, 'NETWORK_ERROR'), 'busy', 'busy'],
  'its end': [exception(500, 236, 'ABORTED'), 'busy', 'busy'],
  'an unfinished quorum': [exception(500, 286, 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE'), 'busy', 'busy'],
  'a replica that lags': [exception(500, 289, 'REPLICA_IS_NOT_IN_QUORUM'), 'busy', 'busy'],
  'a disk that is full': [exception(500, 243, 'NOT_ENOUGH_SPACE'), 'busy', 'busy'],
  'a table that is gone': [exception(404, 60, 'UNKNOWN_TABLE'), 'damaged', 'damaged'],
  'a file with other bytes': [exception(500, 40, 'CHECKSUM_DOESNT_MATCH'), 'damaged', 'damaged'],
  'a database that is gone': [exception(404, 81, 'UNKNOWN_DATABASE'), 'damaged', 'damaged'],
  'a body that was cut': [exception(500, 354, 'ZLIB_INFLATE_FAILED'), 'busy', 'busy'],
  'the same insert twice': [exception(500, 216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING'), 'busy', 'busy'],
  'another password': [exception(403, 516, 'AUTHENTICATION_FAILED'), 'refusing', 'refusing'],
  'a right that is missing': [exception(403, 497, 'ACCESS_DENIED'), 'refusing', 'refusing'],
  'rows it cannot parse': [
    exception(400, 27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED'),
    'ClickHouseError',
    'RowsRefused',
  ],
  'a proxy without its server': [plain(502, '<h1>502 Bad Gateway</h1>'), 'away', 'away'],
  'a proxy that lets nobody in': [plain(403, '<h1>403 Forbidden</h1>'), 'away', 'away'],
  'a proxy that takes no such body': [plain(413, '<h1>413 Request Entity Too Large</h1>'), 'away', 'away'],
  'an error without a word': [plain(500, ''), 'away', 'away'],
  'a page of something else': [plain(200, '<html>Welcome</html>'), 'away', 'away'],
  'a row that breaks off, as if whole': [
    (_, answer) => answer.writeHead(200, OK).end('{"a":1}\n{"a":\n'),
    'away',
    'none',
  ],
  'an answer without an end, as far as anybody could tell': [
    ({ socket }) =>
      socket.end('HTTP/1.1 200 OK\r\nX-ClickHouse-Summary: {}\r\nConnection: close\r\n\r\n{"a":1}\n{"a'),
    'away',
    'away',
  ],
  'a connection that is cut': [(asked) => asked.socket.destroy(), 'away', 'away'],
  'bytes that are no HTTP': [(asked) => asked.socket.end('SSH-2.0\r\n\r\n'), 'away', 'away'],
  'a compressed answer that is none': [
    (_, answer) => answer.writeHead(200, { ...OK, 'content-encoding': 'gzip' }).end('not compressed'),
    'away',
    'away',
  ],
}

const nameOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason as Error & { why?: string; limit?: string },
  )
  if (error === undefined) return 'none'
  if (error.name !== 'ClickHouseError' && error.cause !== undefined && !('code' in error))
    assert.doesNotMatch(error.message, new RegExp(SECRET))
  return error.why ?? error.limit ?? (error.name === 'Error' ? error.constructor.name : error.name)
}

describe('a failure of a ClickHouse server', () => {
  let answer: Answer
  let server: AnsweringServer
  let clickHouse: ClickHouse
  before(async () => {
    answer = (_, response) => response.writeHead(200, OK).end()
    server = await startAnsweringServer((asked, response) => answer(asked, response))
    clickHouse = await openClickHouseServer(server.url)
  })
  after(async () => {
    await clickHouse.close()
    await server.stop()
  })

  const rows = { table: 'any', columns: ['id'], values: [[1]] }
  const streamed = async () => {
    for await (const chunk of clickHouse.reader.stream('SELECT 1')) assert.ok(chunk)
  }

  for (const [name, [given, read, insert]] of Object.entries(KINDS))
    it(`means for reads ${read}, for inserts ${insert}: ${name}`, async () => {
      answer = given
      assert.equal(await nameOf(clickHouse.reader.query('SELECT 1')), read)
      assert.equal(await nameOf(clickHouse.writer.insert(rows)), insert)
      if (!name.startsWith('a row')) assert.equal(await nameOf(streamed()), read)
    })

  it('is none when a kept connection is closed as a read is sent', async () => {
    const seen = new WeakSet<object>()
    answer = ({ socket }, response) => {
      if (seen.has(socket)) return void socket.destroy()
      seen.add(socket)
      response.writeHead(200, OK).end('{"a":1}\n')
    }
    for (let i = 0; i < 6; i += 1) {
      assert.deepEqual(await clickHouse.reader.query('SELECT 1 AS a'), [{ a: 1 }])
      await streamed()
    }
  })

  it('repeats an insert of unknown outcome under its id, and no other', async () => {
    const ids: (string | null)[] = []
    let cut = true
    answer = ({ url, socket }, response) => {
      ids.push(new URL(url!, server.url).searchParams.get('query_id'))
      if (cut) socket.destroy()
      else response.writeHead(200, OK).end()
    }
    await assert.rejects(clickHouse.writer.insert(rows))
    await assert.rejects(clickHouse.writer.insert(rows))
    cut = false
    await clickHouse.writer.insert({ ...rows, table: 'other' })
    await clickHouse.writer.insert(rows)
    await clickHouse.writer.insert(rows)
    const [first, second, other, third, next] = ids
    assert.ok(first)
    assert.deepEqual([second, third], [first, first])
    assert.equal(new Set([first, other, next]).size, 3)
  })

  it('asks for inserts that are done when they are answered, and for whole answers', async () => {
    const settings: URLSearchParams[] = []
    answer = ({ url }, response) => {
      settings.push(new URL(url!, server.url).searchParams)
      response.writeHead(200, OK).end()
    }
    await clickHouse.writer.insert(rows)
    await clickHouse.reader.query('SELECT 1')
    const [insert, read] = settings
    for (const [name, value] of [
      ['async_insert', '0'],
      ['insert_deduplicate', '0'],
      ['wait_end_of_query', '1'],
    ] as const)
      assert.equal(insert?.get(name), value, name)
    assert.equal(read?.get('wait_end_of_query'), '1')
  })
})

describe('opening a ClickHouse server', () => {
  const opened = async (given: Answer, options: Parameters<typeof openClickHouseServer>[1] = {}) => {
    const server = await startAnsweringServer(given)
    const url = server.url.replace('//', '//ada:hid%40den@')
    try {
      const clickHouse = await openClickHouseServer(url, options)
      await clickHouse.close()
      return undefined
    } catch (error) {
      return error as Error
    } finally {
      await server.stop()
    }
  }

  const SERVER = /^CLICKHOUSE_URL, http:\/\/127\.0\.0\.1:\d+ as user "ada": /

  const UNUSABLE: Readonly<Record<string, readonly [answer: Answer, why: string, says: RegExp]>> = {
    'a gateway whose server is away': [plain(503, '503 Service Unavailable'), 'away', /503 Service Unavail/],
    'a gateway without a word': [plain(502, ''), 'away', /another server responded: unknown status/],
    'a page of something else': [plain(200, '<html>Welcome</html>'), 'refusing', /not ClickHouse.*200/],
    'a redirect': [
      (_, answer) => answer.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'refusing',
      /not ClickHouse.*302/,
    ],
    'bytes that are no HTTP': [
      (asked) => asked.socket.end('SSH-2.0\r\n\r\n'),
      'refusing',
      /HPE_\w+\): the port does not speak HTTP/,
    ],
    'a release without what the tables need': [
      (_, answer) => answer.writeHead(200, OK).end('{"version":"25.3.2.39"}\n'),
      'refusing',
      /ClickHouse 25\.6 or later is needed, and this server is 25\.3\.2\.39$/,
    ],
    'an error that is not known': [exception(500, 49, 'LOGICAL_ERROR'), 'refusing', /LOGICAL_ERROR \(49\)$/],
    'a cluster without Keeper': [
      exception(500, 392, 'QUERY_IS_PROHIBITED'),
      'refusing',
      /QUERY_IS_PROHIBITED \(392\)$/,
    ],
    'a right that is missing': [
      exception(
        403,
        497,
        'ACCESS_DENIED',
        "ada: Not enough privileges. To execute this query, it's necessary to have the grant SELECT(a, b) ON system.clusters. ",
      ),
      'refusing',
      /ACCESS_DENIED \(497\), the user lacks the grant SELECT ON system\.clusters$/,
    ],
    'a setting that is not allowed': [
      exception(
        500,
        452,
        'SETTING_CONSTRAINT_VIOLATION',
        "Setting max_memory_usage shouldn't be greater than 1000000000. ",
      ),
      'refusing',
      /\(452\), Setting max_memory_usage shouldn't be greater than 1000000000$/,
    ],
  }

  for (const [name, [given, why, says]] of Object.entries(UNUSABLE))
    it(`fails as ${why}, with variable and address, at ${name}`, async () => {
      const failure = await opened(given)
      assert.equal((failure as ClickHouseUnavailable).why, why)
      assert.match(failure!.message, SERVER)
      assert.match(failure!.message, says)
      assert.doesNotMatch(failure!.message, new RegExp(SECRET))
    })

  it('refuses https for a port without TLS', async () => {
    const server = await startAnsweringServer(plain(200, ''))
    await assert.rejects(openClickHouseServer(server.url.replace('http:', 'https:')), {
      why: 'refusing',
      message: /^CLICKHOUSE_URL, https:.*use http:\/\/ for a port without TLS/,
    })
    await server.stop()
  })

  for (const database of ['system', 'SYSTEM', 'information_schema', 'INFORMATION_SCHEMA'])
    it(`refuses the database ${database}, before anything is sent`, async () => {
      await assert.rejects(openClickHouseServer(`http://127.0.0.1:1/${database}`), {
        why: 'refusing',
        message: `CLICKHOUSE_URL: the database "${database}" belongs to ClickHouse itself: name another one, such as tallytree`,
      })
    })

  it('sends user and password as they were meant', async () => {
    let authorization: string | undefined
    await opened((asked, answer) => {
      authorization = asked.headers.authorization
      answer.writeHead(200, OK).end()
    })
    assert.equal(authorization, `Basic ${Buffer.from('ada:hid@den').toString('base64')}`)
  })

  it('is refused without the password in the message', async () => {
    const failure = await opened(exception(403, 516, 'AUTHENTICATION_FAILED'))
    assert.match(
      failure!.message,
      /^CLICKHOUSE_URL, .* as user "ada": ClickHouse rejected the request: AUTHENTICATION_FAILED \(516\)$/,
    )
    assert.doesNotMatch(failure!.stack ?? '', /hid|row-says/)
  })

  const cluster =
    (shards: number): Answer =>
    (_, answer) =>
      answer.writeHead(200, OK).end(`{"shards":${shards}}\n`)

  it('takes a cluster of one shard, and no other', async () => {
    assert.equal(await opened(cluster(1), { cluster: 'main' }), undefined)
    assert.match((await opened(cluster(0), { cluster: 'main' }))!.message, /main is not a cluster/)
    assert.match((await opened(cluster(3), { cluster: 'main' }))!.message, /main has 3 shards/)
  })

  it('has a cluster make tables everywhere, count inserts by their quorum and read in sequence', async () => {
    const asked: URLSearchParams[] = []
    const bodies: string[] = []
    const server = await startAnsweringServer(({ url }, answer) => {
      asked.push(new URL(url!, 'http://any').searchParams)
      answer.writeHead(200, OK).end('{"shards":1}\n')
    })
    server.onBody((body) => void bodies.push(body))
    const clickHouse = await openClickHouseServer(server.url, { cluster: 'main' })
    await clickHouse.writer.insert({ table: 'any', columns: ['id'], values: [[1]] })
    await clickHouse.reader.query('SELECT 1')
    const [insert, read] = asked.slice(-2)
    assert.deepEqual([insert?.get('insert_quorum'), insert?.get('insert_quorum_parallel')], ['auto', '0'])
    for (const settings of [insert, read]) assert.equal(settings?.get('select_sequential_consistency'), '1')
    await clickHouse.writer.command('EXCHANGE TABLES a.calls AND b.calls')
    assert.ok(bodies.includes('CREATE DATABASE IF NOT EXISTS tallytree ON CLUSTER main'))
    assert.equal(bodies.at(-1), 'EXCHANGE TABLES a.calls AND b.calls ON CLUSTER main')
    await clickHouse.close()
    await server.stop()
  })

  it('names a certificate that nobody vouches for', async () => {
    const proxy = await startRecordingProxy('http://127.0.0.1:1', selfSigned())
    await assert.rejects(
      openClickHouseServer(proxy.address),
      /cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    )
    await proxy.stop()
  })

  it('uses a database that is there although the user may make none', async () => {
    const denied = exception(403, 497, 'ACCESS_DENIED')
    let statements = 0
    const first =
      (isThere: boolean): Answer =>
      (asked, answer) => {
        statements += 1
        if (statements === 1) return void answer.writeHead(200, OK).end()
        if (statements === 2) return denied(asked, answer)
        return void answer.writeHead(200, OK).end(isThere ? '{"name":"tallytree"}\n' : '')
      }
    assert.equal(await opened(first(true)), undefined)
    statements = 0
    assert.match((await opened(first(false)))!.message, /ACCESS_DENIED/)
  })
})
