import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { tallytree } from '../support/command.js'

describe('a command whose service accepts connections and stays silent', () => {
  let server: Server
  let directory: string
  const sockets: Socket[] = []
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-silent-'))
    await openSqliteEventStore(join(directory, 'events.db')).close()
    await writeFile(join(directory, 'prices.json'), '{}')
    server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await rm(directory, { recursive: true, force: true })
  })

  it('ends with an error that names the address', async () => {
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const environment = {
      TALLYTREE_API_KEY: 'key',
      TALLYTREE_DATA_DIR: directory,
      TALLYTREE_PORT: String(port),
    }
    const commands = [
      ['rebuild'],
      ['rebuild', '--url', url],
      ['replay', '--from', url, '--to', join(directory, 'copy')],
      ['replay', '--from', `esdb://127.0.0.1:${port}?tls=false`, '--to', join(directory, 'copy')],
      ['verify', directory, '--against', url],
      ['prices', 'import', '--url', url, join(directory, 'prices.json')],
    ]
    const ended = await Promise.all(commands.map((args) => tallytree(args, environment)))

    for (const [index, { code, stderr }] of ended.entries()) {
      const command = commands[index]!.join(' ')
      assert.equal(code, 2, command)
      assert.match(
        stderr,
        new RegExp(`^tallytree: .*127\\.0\\.0\\.1:${port}.*(answer|respond).*\n$`),
        command,
      )
    }
  })
})
