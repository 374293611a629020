import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describeWithClickHouseServer } from './clickhouse-server.js'
import { endWithThisProcess } from './end-with-this-process.js'

/** A machine: a network namespace of its own, on a bridge. */
export interface Host {
  readonly address: string
  /** Runs the command after it there. */
  readonly within: readonly string[]
  /** Nothing leaves or reaches it. */
  readonly cutOff: () => void
  readonly connect: () => void
}

export interface Hosts {
  /** Where they reach what runs in this process's namespace. */
  readonly address: string
  readonly network: string
  readonly hosts: readonly Host[]
  readonly stop: () => void
}

const ran = (program: string, ...args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' })

const ip = (...args: readonly string[]) => {
  const { status, stderr } = ran('ip', ...args)
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
}

const isPossible =
  process.getuid?.() === 0 &&
  ran('unshare', '--net', 'ip', 'link', 'add', 'probe', 'type', 'bridge').status === 0

/** `describe`, where hosts and a ClickHouse server can be made; elsewhere the title says what is missing. */
export const describeWithHosts: typeof describeWithClickHouseServer = isPossible
  ? describeWithClickHouseServer
  : (title) =>
      describe.skip(`${title} (skipped: network namespaces need Linux, root and iproute2)`, () => undefined)

export const startHosts = async (count: number): Promise<Hosts> => {
  const subnet = `10.237.${process.pid % 256}`
  const network = `${subnet}.0/24`
  const name = `tt${process.pid}`
  ip('link', 'add', name, 'type', 'bridge')
  const remove = () => void ran('ip', 'link', 'delete', name)
  process.once('exit', remove)
  ip('address', 'add', `${subnet}.1/24`, 'dev', name)
  ip('link', 'set', name, 'up')
  const started: (Host & { readonly end: () => void })[] = []
  for (let number = 0; number < count; number += 1) {
    // The namespace ends with its last process, and with it its links. This one ends with its input.
    const child = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    endWithThisProcess(child)
    await once(child.stdout, 'data')
    const link = `${name}h${number}`
    const address = `${subnet}.${number + 11}`
    const within = ['nsenter', `--net=/proc/${child.pid}/ns/net`]
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(child.pid))
    ip('link', 'set', link, 'master', name, 'up')
    for (const command of [`address add ${address}/24 dev eth0`, 'link set eth0 up', 'link set lo up']) {
      const { status, stderr } = ran('nsenter', within[1]!, 'ip', ...command.split(' '))
      if (status !== 0) throw new Error(`ip ${command}: ${stderr}`)
    }
    started.push({
      address,
      within,
      cutOff: () => ip('link', 'set', link, 'down'),
      connect: () => ip('link', 'set', link, 'up'),
      end: () => void child.kill('SIGKILL'),
    })
  }
  return {
    address: `${subnet}.1`,
    network,
    hosts: started,
    stop: () => {
      for (const host of started) host.end()
      remove()
    },
  }
}
