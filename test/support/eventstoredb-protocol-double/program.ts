import { createInterface } from 'node:readline'
import { startProtocolDouble } from './double.js'
import { openKeptLog } from './kept-log.js'
import type { Misbehaviour } from './misbehaviour.js'

// Serves until its input ends. Takes an address, a port (0 for any) and, perhaps, the file of its log; prints where it is. A line of
// its input is an object: how to misbehave from now on; it is answered with a line when that is so.
const [host = '', port, path] = process.argv.slice(2)
const double = await startProtocolDouble({ host, port: Number(port), log: openKeptLog(path) })
process.stdout.write(`${double.url}\n`)

for await (const line of createInterface(process.stdin)) {
  const { dropSubscriptions = false, ...switches } = JSON.parse(line) as Partial<Misbehaviour> & {
    dropSubscriptions?: boolean
  }
  Object.assign(double.misbehaviour, switches)
  if (dropSubscriptions) double.dropSubscriptions()
  process.stdout.write('done\n')
}
process.exit(0)
