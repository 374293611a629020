import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The code blocks of a text in one language, in order. */
export const blocksIn = (markdown: string, language: string): readonly string[] =>
  [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((block) => block[1] === language)
    .map((block) => block[2]!)

/** A page of `docs/`: the code blocks of a language, in order. */
export const pageOf = (name: string): ((language: string) => readonly string[]) => {
  const page = textOf(`docs/${name}`)
  return (language) => blocksIn(page, language)
}

/** A file of the repository. */
export const textOf = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The part of a text below a heading of the second level. */
export const sectionOf = (markdown: string, heading: string): string => {
  const found = markdown.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  assert.ok(found, `no section "${heading}"`)
  return found
}

/** For a shell: as `curl`, but asks again where a slow machine has not projected yet what was written last. */
export const CURL_ONCE_READABLE = `curl() {
  local answer; answer=$(mktemp)
  for try in $(seq 60); do
    command curl "$@" > "$answer" || return
    grep -q 'The read models have not caught up with the requested position' "$answer" || break
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
