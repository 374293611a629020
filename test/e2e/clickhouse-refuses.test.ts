import assert from 'node:assert/strict'
import { startAnsweringServer } from '../support/answering-server.js'
import { startRunningService } from '../support/running-service.js'

describe('the program, over a ClickHouse server that refuses its user', () => {
  it('says so in a sentence without the password, and ends', async () => {
    const server = await startAnsweringServer((_, answer) =>
      answer
        .writeHead(403, { 'x-clickhouse-exception-code': '516' })
        .end('Code: 516. DB::Exception: ada: Authentication failed. (AUTHENTICATION_FAILED)'),
    )
    const starting = startRunningService({ CLICKHOUSE_URL: server.url.replace('//', '//ada:hidden@') })
    await assert.rejects(starting, ({ message }: Error) => {
      assert.match(message, /^Tallytree cannot start: CLICKHOUSE_URL, .* as user "ada": .*\(516\)$/m)
      assert.doesNotMatch(message, /hidden|^\s+at /m)
      return true
    })
    await server.stop()
  })
})
