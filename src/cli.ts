#!/usr/bin/env node
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { eventsPage } from './documentation/events-page.js'
import { catalogue } from './domain/catalogue.js'

const USAGE = `usage: tallytree docs [--check]

  docs           writes docs/events.md, the catalogue of events
  docs --check   only says whether it is up to date
`

const EVENTS_PAGE = resolve('docs/events.md')

const docs = async (check: boolean): Promise<number> => {
  const page = eventsPage(catalogue)
  if (!check) {
    await writeFile(EVENTS_PAGE, page)
    return 0
  }
  if ((await readFile(EVENTS_PAGE, 'utf8').catch(() => '')) === page) return 0
  process.stderr.write('docs/events.md is out of date: run "npm run docs"\n')
  return 1
}

const [command, ...options] = process.argv.slice(2)
if (command === 'docs') process.exitCode = await docs(options.includes('--check'))
else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}
