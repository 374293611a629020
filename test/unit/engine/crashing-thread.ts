import { parentPort } from 'node:worker_threads'
import type { FromThread } from '../../../src/engine/protocol.js'
import '../../../src/engine/thread.js'

/** The thread of the engine, which ends instead of reporting that there is no base model "crash". */
const port = parentPort!
const post = port.postMessage.bind(port)
port.postMessage = (message: FromThread) => {
  if (message.type === 'failed' && message.error.message.includes('"crash"')) process.exit(3)
  post(message)
}
