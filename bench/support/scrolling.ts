import { chromium } from 'playwright-core'

export interface Scrolled {
  /** The time of each frame, in milliseconds. */
  readonly frames: readonly number[]
  /** The most rows that were mounted at once. */
  readonly rows: number
}

interface ScrollQuestion {
  readonly address: string
  readonly key: string
  readonly path: string
  /** Of the element that scrolls, and of the table within it. */
  readonly selector: string
  readonly durationMs: number
}

/** Scrolls through all of a page's table in Chromium (CHROMIUM_PATH), a part in each frame. */
export const scrollThrough = async (question: ScrollQuestion): Promise<Scrolled> => {
  const { address, key, path, selector, durationMs } = question
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  try {
    const context = await browser.newContext({ baseURL: address, viewport: { width: 1440, height: 900 } })
    await context.request.post('/api/sessions', { data: { api_key: key } })
    const page = await context.newPage()
    await page.goto(path)
    await page.locator(`${selector} tbody a`).first().waitFor()
    return await page.evaluate<Scrolled>(`new Promise((resolve) => {
      const element = document.querySelector(${JSON.stringify(selector)})
      const height = element.scrollHeight - element.clientHeight
      const began = performance.now()
      const frames = []
      let rows = 0
      let before = began
      const frame = (now) => {
        frames.push(now - before)
        before = now
        rows = Math.max(rows, element.querySelectorAll('tbody tr').length)
        const part = (now - began) / ${durationMs}
        if (part >= 1) return resolve({ frames, rows })
        element.scrollTop = part * height
        requestAnimationFrame(frame)
      }
      requestAnimationFrame(frame)
    })`)
  } finally {
    await browser.close()
  }
}
