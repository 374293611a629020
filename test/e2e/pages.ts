import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A page of `docs/`: the code blocks of a language, in order. */
export const pageOf = (name: string): ((language: string) => readonly string[]) => {
  const page = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  return (language) =>
    [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
      .filter((block) => block[1] === language)
      .map((block) => block[2]!)
}

/** For a shell: as `curl`, but asks again where a slow machine has not projected yet what was written last. */
export const CURL_ONCE_READABLE = `curl() {
  local answer; answer=$(mktemp)
  for try in $(seq 60); do
    command curl "$@" > "$answer" || return
    grep -q 'What was written last cannot be read yet' "$answer" || break
  done
  cat "$answer"; rm "$answer"
}`

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Waits for a program that was just started. */
export const answering = async (url: string): Promise<void> => {
  for (;;) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isThere) return
    await sleep(20)
  }
}
