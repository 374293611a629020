/** Part of the pages under `npm run dev` only: reloads when the service serves another build. State is in the address. */
const script = document.querySelector('script[type="module"]')?.getAttribute('src') ?? ''

setInterval(() => {
  void fetch('/', { headers: { accept: 'text/html' } })
    .then((response) => response.text())
    .then((html) => {
      if (!html.includes(script)) location.reload()
    })
    // The service restarts.
    .catch(() => undefined)
}, 1000)
