import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fill, sender } from './fill.js'
import { startModels } from './gateway.js'
import { startService } from './service.js'

/** `npm run demo:pages`: a service with a month of data to look around in, until it is stopped with Ctrl-C. */

const PROJECT = 'acme/support'

const directory = mkdtempSync(join(tmpdir(), 'tallytree-pages-'))
process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0))

const key = `demo-${randomBytes(24).toString('hex')}`
console.log('Starting the service on a free port …')
const models = await startModels()
const { address } = await startService(join(directory, 'data'), key, {
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
})
const send = sender(address, key)
console.log('Recording a month of calls, two evaluation runs, training runs and some completions …')
await send('POST', '/api/teams', { name: PROJECT.split('/')[0] })
await fill({ address, key, send }, PROJECT, models.url)
console.log(
  `\nOpen ${address}/${PROJECT} and sign in with the key ${key}\nCtrl-C stops it and removes its data.`,
)
