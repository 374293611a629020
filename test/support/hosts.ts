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

const isPossible =
  process.getuid?.() === 0 &&
  ran('unshare', '--net', 'ip', 'link', 'add', 'probe', 'type', 'bridge').status === 0

/** `describe`, where hosts and a ClickHouse server can be made; elsewhere the title says what is missing. */
export const describeWithHosts: typeof describeWithClickHouseServer = isPossible
  ? describeWithClickHouseServer
  : (title) =>
      describe.skip(`${title} (skipped: network namespaces need Linux, root and iproute2)`, () => undefined)

/** Ends with this process, however that ends, and with it all its links. */
const startNamespace = async () => {
  const child = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  endWithThisProcess(child)
  await once(child.stdout, 'data')
  const within = ['nsenter', `--net=/proc/${child.pid}/ns/net`] as const
  return {
    pid: child.pid!,
    within,
    ip: (command: string) => {
      const { status, stderr } = ran(...within, 'ip', ...command.split(' '))
      if (status !== 0) throw new Error(`ip ${command}: ${stderr}`)
    },
    end: () => void child.kill('SIGKILL'),
  }
}

/** The bridge is in a namespace too, so that nothing stays if this process is killed. */
export const startHosts = async (count: number): Promise<Hosts> => {
  const subnet = `10.237.${process.pid % 256}`
  const own = `tt${process.pid}`
  const bridge = await startNamespace()
  bridge.ip('link add bridge type bridge')
  bridge.ip('link set bridge up')
  bridge.ip(`link add own master bridge up type veth peer name ${own} netns ${process.pid}`)
  ran('ip', 'address', 'add', `${subnet}.1/24`, 'dev', own)
  ran('ip', 'link', 'set', own, 'up')
  const started: (Host & { readonly end: () => void })[] = []
  for (let number = 0; number < count; number += 1) {
    const { pid, within, ip, end } = await startNamespace()
    const link = `host${number}`
    const address = `${subnet}.${number + 11}`
    bridge.ip(`link add ${link} master bridge up type veth peer name eth0 netns ${pid}`)
    ip(`address add ${address}/24 dev eth0`)
    ip('link set eth0 up')
    ip('link set lo up')
    started.push({
      address,
      within,
      cutOff: () => bridge.ip(`link set ${link} down`),
      connect: () => bridge.ip(`link set ${link} up`),
      end,
    })
  }
  return {
    address: `${subnet}.1`,
    network: `${subnet}.0/24`,
    hosts: started,
    stop: () => {
      for (const host of [...started, bridge]) host.end()
    },
  }
}
