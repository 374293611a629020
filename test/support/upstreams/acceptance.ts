import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ROOT } from '../compiled.js'

/** The clients of the gateway's endpoints, with the upstream that they need. */
export const GATEWAY_CLIENTS = join(ROOT, 'test/gateway-clients')

/** For the acceptance programs of the gateway, which register their own upstreams. */
export const acceptanceEnvironment = async (address: string, key: string) => ({
  GATEWAY_URL: address,
  GATEWAY_KEY: key,
  GATEWAY_PROJECT: 'acme/assistant',
  MODEL_PREFIX: 'acme/',
  TRANSLATE_PREFIX: 'acme/only/',
  SETUP: join(GATEWAY_CLIENTS, 'register_upstreams.mjs'),
  STUB_PORT: String(await freePort()),
})

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The output of an acceptance program ends with `N passed, 0 failed`. */
export const assertPassed = ({
  stdout,
  stderr,
}: {
  readonly stdout: string
  readonly stderr: string
}): void => {
  const failed = stdout.split('\n').filter((line) => line.startsWith('FAIL'))
  assert.deepEqual(failed, [])
  assert.match(stdout, /^[1-9]\d* passed, 0 failed\n$/m, stderr.slice(-2000))
}
