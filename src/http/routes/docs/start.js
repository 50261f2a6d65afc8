// Runs in the browser: draws the description into the page.
SwaggerUIBundle({
  url: document.querySelector("#description").dataset.url,
  dom_id: "#description",
  deepLinking: true,
  // The renderer would otherwise send the description elsewhere to be validated.
  validatorUrl: null,
});
