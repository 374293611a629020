import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import {
  connectToAny,
  dialling,
  type Dial,
} from '../../../../../src/adapters/outgoing/guard/connect-to-any.js'
import { hangs } from '../../../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../../../support/receivers/receiver.js'
import { until } from '../../../../support/until.js'

const SILENT = '127.0.0.2'
const REFUSING = '127.0.0.3'
const ANSWERING = '127.0.0.1'

describe('a name with several addresses', () => {
  let receiver: Receiver
  let dialled: string[]
  let sockets: Socket[]
  beforeEach(async () => {
    dialled = []
    sockets = []
    receiver = await startReceiver(hangs)
  })
  afterEach(() => receiver.stop())

  const dial: Dial = (address, port) => {
    dialled.push(address)
    const socket = address === ANSWERING ? dialling(address, port) : new Socket()
    if (address === REFUSING) socket.destroy(Object.assign(new Error(), { code: 'ECONNREFUSED' }))
    sockets.push(socket)
    return socket
  }
  const connect = (addresses: readonly string[], signal = new AbortController().signal) =>
    connectToAny(addresses, receiver.port, dial, signal)

  it('is reached by the first that answers, and the others are let go', async () => {
    const connected = await connect([REFUSING, SILENT, ANSWERING, SILENT])
    assert.deepEqual(dialled, [REFUSING, SILENT, ANSWERING])
    assert.deepEqual(
      sockets.map((socket) => socket.destroyed),
      [true, true, false],
    )
    connected.destroy()
    await until(() => receiver.open() === 0)
  })

  it('is tried at its addresses of both kinds in turn', async () => {
    const all = ['127.0.0.3', '127.0.0.4', '::3', '127.0.0.5', '::4']
    const refusing: Dial = (address) => {
      dialled.push(address)
      return new Socket().destroy(Object.assign(new Error(), { code: 'ECONNREFUSED' }))
    }
    await assert.rejects(connectToAny(all, 1, refusing, new AbortController().signal), {
      code: 'ECONNREFUSED',
    })
    assert.deepEqual(dialled, ['::3', '127.0.0.3', '::4', '127.0.0.4', '127.0.0.5'])
  })

  it('is left alone once nobody waits for it', async () => {
    await assert.rejects(connect([ANSWERING], AbortSignal.abort()))
    assert.deepEqual(dialled, [])
    const leaving = new AbortController()
    const connecting = connect([SILENT, SILENT], leaving.signal)
    leaving.abort()
    await assert.rejects(connecting)
    assert.deepEqual(
      sockets.map((socket) => socket.destroyed),
      [true],
    )
    assert.deepEqual(dialled, [SILENT])
  })
})
