import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen, type HttpServer } from '../../../src/api/server/http-server.js'
import { until } from '../../support/until.js'

const LIMITS = { bodyMs: 600, uploadSilenceMs: 300, uploadBytesPerS: 5 }

const countBody = async (request: IncomingMessage, response: ServerResponse) => {
  let bytes = 0
  try {
    for await (const chunk of request) bytes += (chunk as Buffer).length
  } catch {
    return
  }
  response.end(`received ${bytes} bytes`)
}

describe('the time limit of a request body', () => {
  let listening: HttpServer
  before(async () => {
    listening = await listen(countBody, { host: '127.0.0.1', port: 0 }, undefined, LIMITS)
  })
  after(() => listening.close())

  /** Sends a body in 10 parts and answers what comes back until the connection is closed. */
  const send = async (contentType: string, pausesMs: readonly number[]): Promise<string> => {
    const socket = connect(Number(new URL(listening.address).port), '127.0.0.1')
    let answer = ''
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    socket.on('data', (data) => (answer += data.toString())).on('error', () => undefined)
    socket.write(`POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Type: ${contentType}\r\n`)
    socket.write(`Content-Length: ${pausesMs.length}\r\n\r\n`)
    for (const pause of pausesMs) {
      await sleep(pause)
      if (socket.writable) socket.write('x')
    }
    await closed
    return answer
  }

  const TEN_PAUSES = Array.from({ length: 10 }, () => 100)

  it('does not cut an upload that takes longer in total but is never silent', async () => {
    assert.match(await send('multipart/form-data; boundary=b', TEN_PAUSES), /200 OK[^]*received 10 bytes/)
  })

  it('cuts an upload that is silent for too long with 408', async () => {
    assert.match(await send('multipart/form-data; boundary=b', [0, 1500]), /^HTTP\/1\.1 408 /)
  })

  it('cuts an upload that is slower than its least rate with 408', async () => {
    const pauses = Array.from({ length: 10 }, () => 250)
    assert.match(await send('multipart/form-data; boundary=b', pauses), /^HTTP\/1\.1 408 /)
  })

  it('cuts any other body that takes too long in total with 408', async () => {
    assert.match(await send('application/json', TEN_PAUSES), /^HTTP\/1\.1 408 /)
  })

  it('leaves a request alone whose body came in time while its response takes longer', async () => {
    const slow = await listen(
      async (request, response) => {
        request.resume()
        await once(request, 'end')
        await sleep(1000)
        response.end('served')
      },
      { host: '127.0.0.1', port: 0 },
      undefined,
      LIMITS,
    )
    for (const type of ['application/json', 'multipart/form-data; boundary=b']) {
      const answer = await fetch(slow.address, {
        method: 'POST',
        body: 'x',
        headers: { 'content-type': type },
      })
      assert.equal(await answer.text(), 'served')
    }
    await slow.close()
  })
})

describe('a server that is closed', () => {
  it('ends a connection with the answer to a request that comes later on it', async () => {
    const waiting: ServerResponse[] = []
    const listening = await listen((_, response) => waiting.push(response), { host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(listening.address).port), '127.0.0.1')
    let text = ''
    socket.on('data', (data) => (text += data.toString()))
    socket.write('GET /first HTTP/1.1\r\nHost: here\r\n\r\n')
    await until(() => waiting.length === 1)

    const closed = listening.close()
    // A busy client: its next request is there before the answer to the last one.
    socket.write('GET /second HTTP/1.1\r\nHost: here\r\n\r\n')
    await until(() => waiting.length === 2)
    for (const response of waiting) response.end('served')
    await Promise.all([closed, once(socket, 'close')])
    const [first, second] = text.split('served')
    assert.match(first!, /connection: keep-alive/i)
    assert.match(second!, /connection: close/i)
  })
})
