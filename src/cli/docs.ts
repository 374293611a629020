import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { eventsPage } from './events-page.js'
import { catalogue } from '../domain/catalogue.js'

const EVENTS_PAGE = resolve('docs/events.md')

/** `tallytree docs`: writes the event catalogue, or with `check` only checks that it is up to date. Returns the exit code. */
export const docs = async (check: boolean): Promise<number> => {
  const page = eventsPage(catalogue)
  if (!check) {
    await writeFile(EVENTS_PAGE, page)
    return 0
  }
  if ((await readFile(EVENTS_PAGE, 'utf8').catch(() => '')) === page) return 0
  process.stderr.write('docs/events.md is out of date: run "npm run docs"\n')
  return 1
}
