import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { asking, textOf } from '../../../../src/adapters/remote-service/request.js'
import { OperatorError } from '../../../../src/kernel/ports/operator-error.js'
import { startAnsweringServer, type AnsweringServer } from '../../../support/answering-server.js'

const SILENCE_MS = 200

describe('a request to a running service', () => {
  let server: AnsweringServer
  before(async () => {
    server = await startAnsweringServer((asked, answer) => {
      if (asked.url === '/silent') return
      answer.writeHead(200)
      if (asked.url === '/large') return void answer.end('x'.repeat(4_000_000))
      answer.write('first')
      if (asked.url === '/slow') setTimeout(() => answer.end('second'), SILENCE_MS / 2)
    })
  })
  after(() => server.stop())

  const ask = (path: string) => asking(server.url, 'key', SILENCE_MS)(path)
  const silent = (error: unknown) =>
    error instanceof OperatorError &&
    /accepts connections but did not answer within 0.2 s/.test(error.message)

  it('fails when the port accepts it and stays silent', () => assert.rejects(ask('/silent'), silent))

  it('fails when the answer begins and then stays silent', async () => {
    const answer = await ask('/begun')
    await assert.rejects(textOf(answer), silent)
  })

  it('takes an answer whose parts come in time', async () => {
    assert.equal(await textOf(await ask('/slow')), 'firstsecond')
  })

  it('takes an answer that it reads slowly itself', async () => {
    const answer = await ask('/large')
    let bytes = 0
    for await (const chunk of answer) {
      if (bytes === 0) await sleep(SILENCE_MS * 3)
      bytes += (chunk as Buffer).length
    }
    assert.equal(bytes, 4_000_000)
  })
})
