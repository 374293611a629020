import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/**
 * All addresses of a name; asked anew each time. Rejects with an error whose `code` says why there are none, and
 * takes back its questions when the signal aborts.
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

export interface NameSources {
  /** As `10.0.0.53` or `127.0.0.1:5353`; those of the system where there are none. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
}

/** How long the second kind of address is waited for once there are some of the first. */
const RESOLUTION_DELAY_MS = 200

/**
 * Names from the hosts file, then from DNS, on sockets of their own: names that nobody answers for hold up neither
 * each other nor anything else, as they would in the four threads of the system's own look-up.
 */
export const resolving = ({ servers, hostsFile = '/etc/hosts' }: NameSources = {}): Resolve => {
  const hosts = hostsIn(hostsFile)
  return async (name, signal) => {
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1']
    const known = (await hosts()).get(name)
    if (known !== undefined) return known
    const resolver = new Resolver({ timeout: 1000, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel)
    try {
      return await bothKinds(resolver.resolve4(name), resolver.resolve6(name))
    } finally {
      signal.removeEventListener('abort', cancel)
      cancel()
    }
  }
}

type Addresses = readonly string[]

const bothKinds = async (ipv4: Promise<Addresses>, ipv6: Promise<Addresses>): Promise<Addresses> => {
  const answers: Addresses[] = []
  const noted = [ipv4, ipv6].map((kind) => kind.then((some) => void answers.push(some)))
  const all = Promise.allSettled(noted)
  // Rejects, with the first of the reasons, once neither kind has an answer.
  await Promise.any(noted).catch(() => noted[0])
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, RESOLUTION_DELAY_MS)))
  await Promise.race([all, patience])
  clearTimeout(timer)
  return answers.flat()
}

const HOSTS_GOOD_FOR_MS = 5000

/** What the file says, read again when that is some seconds old; nothing where there is no such file. */
const hostsIn = (file: string): (() => Promise<ReadonlyMap<string, Addresses>>) => {
  let read: Promise<ReadonlyMap<string, Addresses>> | undefined
  let readAt = 0
  return () => {
    if (read === undefined || performance.now() - readAt > HOSTS_GOOD_FOR_MS) {
      readAt = performance.now()
      read = readFile(file, 'utf8').then(hostsOf, () => new Map<string, Addresses>())
    }
    return read
  }
}

const hostsOf = (text: string): ReadonlyMap<string, Addresses> => {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), address])
  }
  return hosts
}
