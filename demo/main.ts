import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runAgent } from './run-agent.js'
import { startService } from './service.js'
import { readTrace } from './trace.js'
import { treeOf } from './tree.js'

const PROJECT = 'demo/agent'

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Starts the service beside nothing else, traces an agent with the real SDK, and shows what it used. */
const demo = async (directory: string): Promise<void> => {
  const key = `demo-${randomBytes(24).toString('hex')}`
  say('Starting the service on a free port …')
  const service = await startService(join(directory, 'data'), key)
  try {
    say(`It is ready at ${service.address}. Running an agent, traced with the npm package weave …`)
    await runAgent(PROJECT, service.address, key, directory)
    say('The agent is done. Asking for its trace and for what each call used …\n')
    const trace = await readTrace(PROJECT, service.address, key)
    say(`${treeOf(trace)}\n`)
    say(
      `Shown: the ${trace.calls.length} calls of one answer. The SDK sends sums; every figure is counted once.`,
    )
    say(`The service kept its data in ${join(directory, 'data')}, which is removed now.`)
  } finally {
    await service.stop()
  }
}

/** A scratch directory that goes with this process, however it ends. */
const scratchDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'tallytree-demo-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  return directory
}

try {
  await demo(scratchDirectory())
} catch (error) {
  process.stderr.write(
    `The demo failed: ${(error instanceof Error ? error.message : String(error)).trimEnd()}\n`,
  )
  process.exitCode = 1
}
