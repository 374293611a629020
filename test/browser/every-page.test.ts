import assert from 'node:assert/strict'
import {
  accessibilityProblems,
  describeInBrowser,
  PROJECT,
  startPages,
  type Pages,
} from '../support/browser.js'

/** Each page, and a text that it shows when it is complete. */
const PAGES: readonly (readonly [path: string, text: string])[] = [
  ['/', 'support'],
  [`/${PROJECT}/traces`, 'answer_question'],
  ['/-/account', 'API keys'],
]

describeInBrowser('every page', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages()
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  for (const [path, text] of PAGES)
    for (const colorScheme of ['light', 'dark'] as const)
      it(`${path} is accessible in the ${colorScheme} theme`, async () => {
        const page = await pages.open(path, { colorScheme })
        await page.getByText(text).first().waitFor()
        assert.deepEqual(await accessibilityProblems(page), [])
      })
})
