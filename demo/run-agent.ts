import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { withoutConfiguration } from './service.js'

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url))
const ENDS_WITHIN_MS = 300_000

/** Runs the agent; all that it needs to be traced are three variables. */
export const runAgent = async (project: string, address: string, key: string, cwd: string): Promise<void> => {
  const child = spawn(process.execPath, [AGENT, project], {
    cwd,
    env: {
      ...withoutConfiguration(process.env),
      WF_TRACE_SERVER_URL: address,
      WANDB_API_KEY: key,
      WEAVE_PRINT_CALL_LINK: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: ENDS_WITHIN_MS,
    killSignal: 'SIGKILL',
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = (await once(child, 'close')) as [number | null]
  process.off('exit', kill)
  if (code !== 0) throw new Error(`the agent ended with ${code ?? 'a signal'}:\n${said}`)
}
