import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/**
 * All addresses of a name, without a cache. Rejects with an error whose `code` is the reason if there are none, and cancels
 * the queries when the signal aborts.
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

export interface NameSources {
  /** DNS servers such as `10.0.0.53` or `127.0.0.1:5353`; by default those of the system. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
}

/** How long to wait for the other kind of address once one kind was resolved. */
const RESOLUTION_DELAY_MS = 200

/**
 * Resolves names from the hosts file, then from DNS. It does not use the thread pool as `dns.lookup` does, so names without
 * an answer delay nothing else.
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
  // Rejects with the first error if neither kind has an answer.
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
